package com.sample;

import com.ice.core.annotation.IceField;
import com.ice.core.annotation.IceNode;
import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafNone;

@IceNode(desc = "a literal, or @ and the key to read")
public class UnionNone extends BaseLeafNone {
    @IceField(name = "expr")
    public String expr = "";

    @Override
    protected void doNone(IceRoam roam) {
        Object value = roam.resolve(expr);
        roam.put("union", value);
    }
}
