package com.sample;

import com.ice.core.annotation.IceNode;
import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafNone;

@IceNode(desc = "reads the key that another key names")
public class DerivedNone extends BaseLeafNone {
    @Override
    protected void doNone(IceRoam roam) {
        Object which = roam.get("which");
        Object value = roam.get(which);
        roam.put("derived", value);
    }
}
