package com.sample;

import com.ice.core.annotation.IceField;
import com.ice.core.annotation.IceNode;
import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafNone;

@IceNode(desc = "reads a composite key")
public class ProbeNone extends BaseLeafNone {
    @IceField(name = "key")
    public String key = "";

    @Override
    protected void doNone(IceRoam roam) {
        Object value = roam.get("pre_" + key);
        roam.putDeep("probe.last", value);
    }
}
